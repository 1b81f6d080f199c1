//! SHA-256 and its keyed form.

use sha2::{Digest, Sha256};

/// Bytes that SHA-256 takes at once.
const BLOCK_BYTES: usize = 64;

/// Returns the SHA-256 (FIPS 180-4) of some bytes as 64 hexadecimal digits, as `sha256sum` prints it.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the HMAC-SHA256 (RFC 2104) of a message.
pub(crate) fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK_BYTES];
    if key.len() > BLOCK_BYTES {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_that_of_the_standard() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
        assert!(sha256(b"").starts_with("e3b0c44298fc1c14"));
    }

    #[test]
    fn a_keyed_hash_is_that_of_the_standard() {
        // RFC 4231, test cases 2, 1 and 6: a key shorter than a block, and one that is longer.
        for (key, message, digits) in [
            (
                &b"Jefe"[..],
                &b"what do ya want for nothing?"[..],
                "5bdcc146bf60754e6a042426089575c7",
            ),
            (&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b"),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f",
            ),
        ] {
            assert!(hex(&hmac(key, message)).starts_with(digits));
        }
    }
}
