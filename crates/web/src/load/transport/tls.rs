//! TLS (RFC 8446, RFC 5246) by rustls, on sockets that do not block.

use super::{Socket, Taken, is_pending};
use crate::load::Error;
use model::LoadOptions;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConfig, ClientConnection, ResolvesClientCert, Resumption};
use rustls::crypto::{self, CryptoProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{
    AlertDescription, CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that are encrypted at once.
const WRITE_BYTES: usize = 64 << 10;

/// Reads the certificates of a PEM file, in DER.
///
/// # Errors
/// If there is none, or one that is not PEM.
pub fn certificates(pem: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found.iter().map(|one| one.to_vec()).collect()),
        _ => Err(Error::Plan(
            "no certificate in it; expected PEM, which begins with -----BEGIN CERTIFICATE-----"
                .into(),
        )),
    }
}

/// How often a connection is read that brings messages of TLS and no bytes of an answer, of which a
/// server sends a few.
const READS_MAX: u32 = 64;

/// What went wrong in TLS, in words that say what to do.
#[derive(Debug)]
pub(in crate::load) struct Fault(String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

fn fault(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, Fault(text))
}

/// What all connections of a load have in common.
#[derive(Debug)]
pub(super) struct Client {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    http2: bool,
    asked: Arc<Asked>,
}

/// Whether the server has asked for a client's certificate, of which there is none.
#[derive(Debug, Default)]
struct Asked(AtomicBool);

impl ResolvesClientCert for Asked {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

impl Client {
    /// Trusts `roots`, in DER, unless any certificate is accepted.
    ///
    /// # Errors
    /// A host that no certificate can name; no root that can be read.
    pub(super) fn new(options: &LoadOptions, host: &str, roots: &[Vec<u8>]) -> Result<Self, Error> {
        let name = ServerName::try_from(host.to_string())
            .map_err(|_| Error::Plan(format!("no certificate can be for the host {host}")))?;
        let provider = Arc::new(crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Plan(format!("TLS: {error}")))?;
        let builder = if options.insecure {
            let anyone = Arc::new(Anyone(provider));
            builder.dangerous().with_custom_certificate_verifier(anyone)
        } else {
            let mut store = RootCertStore::empty();
            let roots = roots.iter().map(|root| CertificateDer::from(root.clone()));
            let (added, _) = store.add_parsable_certificates(roots);
            if added == 0 {
                let remedy =
                    "install the package ca-certificates, or give --cacert FILE or --insecure";
                let what = "this system has no certificate authority that can be trusted";
                return Err(Error::Plan(format!("{what}: {remedy}")));
            }
            builder.with_root_certificates(store)
        };
        let asked = Arc::<Asked>::default();
        let mut config = builder.with_client_cert_resolver(asked.clone());
        let protocol: &[u8] = if options.http2 { b"h2" } else { b"http/1.1" };
        config.alpn_protocols = vec![protocol.to_vec()];
        // Each connection is that of a new user.
        config.resumption = Resumption::disabled();
        Ok(Self { config: Arc::new(config), name, http2: options.http2, asked })
    }

    /// Begins a connection on a socket.
    pub(super) fn begin(&self, socket: Socket) -> io::Result<Tls> {
        let session = ClientConnection::new(self.config.clone(), self.name.clone());
        let mut session = session.map_err(|error| fault(error.to_string()))?;
        session.set_buffer_limit(None);
        let asked = self.asked.clone();
        Ok(Tls { socket, session, http2: self.http2, asked, holds: true })
    }
}

/// Accepts every certificate, and checks that the server has its key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// A connection over TLS.
#[derive(Debug)]
pub(in crate::load) struct Tls {
    socket: Socket,
    session: ClientConnection,
    /// Whether the server must have agreed to HTTP/2.
    http2: bool,
    asked: Arc<Asked>,
    /// Whether the session may hold what is decrypted, or know of the end: at first, from the handshake.
    holds: bool,
}

impl Tls {
    /// Goes on with the handshake; `WouldBlock` until it is done.
    pub(super) fn shake(&mut self) -> io::Result<()> {
        loop {
            self.flush()?;
            if !self.session.is_handshaking() {
                return self.agreed();
            }
            match self.session.read_tls(&mut self.socket) {
                Ok(0) => {
                    let text = "the server closed the connection in the TLS handshake";
                    return Err(fault(text.into()));
                }
                Ok(_) => _ = self.process()?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the server speaks the protocol that was asked for.
    fn agreed(&self) -> io::Result<()> {
        match self.session.alpn_protocol() {
            Some(b"h2") => Ok(()),
            _ if !self.http2 => Ok(()),
            _ => Err(fault(not_offered(true))),
        }
    }

    /// Decrypts what was read; whether the server has said that it is the end. What it should hear of an
    /// error is sent if it can be.
    fn process(&mut self) -> io::Result<bool> {
        match self.session.process_new_packets() {
            Ok(state) => Ok(state.peer_has_closed()),
            Err(error) => {
                let _ = self.flush();
                Err(fault(self.explained(&error)))
            }
        }
    }

    /// Says what is wrong, and what to do.
    fn explained(&self, error: &rustls::Error) -> String {
        use rustls::Error as E;
        match error {
            E::InvalidCertificate(error) => {
                format!("the server's certificate {}", certificate_fault(error))
            }
            E::InvalidMessage(_) => {
                "the server did not answer with TLS; does this port speak plain http://?".into()
            }
            E::AlertReceived(AlertDescription::NoApplicationProtocol) => not_offered(self.http2),
            E::AlertReceived(alert) => {
                let asked = self.asked.0.load(Ordering::Relaxed);
                let why = if asked { " (wants a client certificate)" } else { "" };
                format!("the server refused TLS with the alert {alert:?}{why}")
            }
            E::PeerIncompatible(_) => {
                format!(
                    "the server has no version or cipher of TLS in common with scruple ({error})"
                )
            }
            _ => format!("TLS failed: {error}"),
        }
    }

    /// Decrypts what there is into `buffer`, by way of `cipher`, which is shorter by a record.
    pub(super) fn read(&mut self, buffer: &mut [u8], cipher: &mut [u8]) -> io::Result<Taken> {
        for _ in 0..READS_MAX {
            if self.holds {
                // Of the end, a truncation is an error.
                match self.session.reader().read(buffer) {
                    Ok(count) => return Ok(Taken { count, drained: false }),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => self.holds = false,
                    Err(error) => return Err(error),
                }
            }
            let came = self.socket.read(cipher)?;
            if came == 0 {
                self.session.read_tls(&mut io::empty())?;
                self.holds = true;
                self.process()?;
                continue;
            }
            let (mut rest, mut filled) = (&cipher[..came], 0);
            while !rest.is_empty() && self.session.read_tls(&mut rest)? > 0 {
                self.holds |= self.process()?;
                // It holds no more than 16 KiB, and is emptied before more is decrypted.
                match self.session.reader().read(&mut buffer[filled..]) {
                    Ok(count) => filled += count,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            match self.flush() {
                Err(error) if !is_pending(&error) => return Err(error),
                _ => {}
            }
            if filled > 0 {
                let drained = came < cipher.len() && !self.holds;
                return Ok(Taken { count: filled, drained });
            }
        }
        Err(ErrorKind::WouldBlock.into())
    }

    /// Takes bytes to send, once the handshake is done.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.session.is_handshaking() {
            self.shake()?;
        }
        self.flush()?;
        let count = self.session.writer().write(&bytes[..bytes.len().min(WRITE_BYTES)])?;
        match self.flush() {
            Err(error) if !is_pending(&error) => Err(error),
            _ => Ok(count),
        }
    }

    /// Sends what is encrypted.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn not_offered(http2: bool) -> String {
    let [version, what] = if http2 { ["HTTP/2", "leave out"] } else { ["HTTP/1.1", "give"] };
    format!("the server does not offer {version} (ALPN); {what} --http2")
}

fn certificate_fault(error: &CertificateError) -> String {
    use CertificateError as C;
    const TRUST: &str =
        "give its authority by --cacert FILE, or --insecure to accept any certificate";
    const ACCEPT: &str = "renew it, or give --insecure to accept any certificate";
    match error {
        C::UnknownIssuer => {
            format!("is self-signed or signed by an authority that is not trusted; {TRUST}")
        }
        C::Expired => format!("has expired; {ACCEPT}"),
        C::ExpiredContext { time, not_after } => {
            let days = time.as_secs().saturating_sub(not_after.as_secs()) / 86_400;
            format!("expired {days} days ago; {ACCEPT}")
        }
        C::NotValidYet | C::NotValidYetContext { .. } => {
            format!("is not valid yet; check both clocks, or {ACCEPT}")
        }
        C::NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> = presented.iter().take(5).map(|name| name.as_str()).collect();
            let names = if names.is_empty() { "no name".into() } else { names.join(", ") };
            format!(
                "is not for {}, only for {names}; use its name in the URL with --connect-to, or --insecure",
                expected.to_str()
            )
        }
        // `openssl req -x509` marks a self-signed certificate as that of an authority.
        C::Other(why) if why.to_string().contains("CaUsedAsEndEntity") => {
            "is that of an authority and not of a server, as self-signed ones are by default; give \
             --insecure to accept any certificate"
                .into()
        }
        other => {
            format!("is not acceptable ({other:?}); give --insecure to accept any certificate")
        }
    }
}
