//! Instructions as text.

use super::pseudo::{ACCESSES, FENCE_TSO};
use super::register_name as register;
use super::table::{Form, NAMES, ORDERS};
use crate::csr;
use crate::decode::{Instruction, decode, fixed};
use crate::expand;

/// Returns an instruction as people write it, with the pseudo-instructions that every disassembler knows.
/// An instruction of 16 bits is shown as the one that it stands for. `name` names the targets of branches
/// and jumps; those without a name are shown as addresses.
pub fn disassemble(word: u32, pc: u32, name: impl Fn(u32) -> Option<String>) -> String {
    let long = match word & 3 {
        3 => Some(word),
        _ => expand(word as u16),
    };
    let found = long.and_then(|long| {
        let own = fixed(long);
        let (known, form) = NAMES.iter().find(|(_, form)| fixed(form.example()) == own)?;
        Some((long, *known, *form, decode(long)?))
    });
    let Some((long, known, form, instruction)) = found else {
        return if word & 3 == 3 {
            format!(".word {word:#010x}")
        } else {
            format!(".half {word:#06x}")
        };
    };
    let operands = Operands { instruction, word: long, pc, name: &name };
    operands.short(known).unwrap_or_else(|| operands.long(known, form))
}

struct Operands<'n> {
    instruction: Instruction,
    word: u32,
    pc: u32,
    name: &'n dyn Fn(u32) -> Option<String>,
}

impl Operands<'_> {
    fn target(&self) -> String {
        let target = self.pc.wrapping_add(self.instruction.immediate);
        (self.name)(target).unwrap_or_else(|| format!("{target:#x}"))
    }

    fn csr(&self) -> String {
        let number = (self.word >> 20) as u16;
        let known = csr::NAMES.iter().find(|(_, known)| *known == number);
        known.map_or_else(|| format!("{number:#x}"), |(name, _)| name.to_lowercase())
    }

    /// Returns a fence with the accesses that it orders; its other fields have no meaning.
    fn fence(&self) -> String {
        let bits = |shift: u32| -> String {
            let set = |at: &(usize, char)| self.word >> shift & (8 >> at.0) != 0;
            ACCESSES.chars().enumerate().filter(set).map(|(_, c)| c).collect()
        };
        let (before, after) = (bits(24), bits(20));
        match (before.as_str(), after.as_str()) {
            ("rw", "rw") if self.word >> 28 == FENCE_TSO >> 28 => "fence.tso".into(),
            ("w", "") => "pause".into(),
            (ACCESSES, ACCESSES) => "fence".into(),
            ("", _) | (_, "") => {
                format!("fence {}, {}", self.word >> 24 & 15, self.word >> 20 & 15)
            }
            _ => format!("fence {before}, {after}"),
        }
    }

    /// Returns the shorter form that some operands have.
    fn short(&self, known: &str) -> Option<String> {
        let Instruction { rd, rs1, rs2, immediate, .. } = self.instruction;
        let (d, s, t) = (register(rd), register(rs1), register(rs2));
        let constant = immediate as i32;
        Some(match known {
            "fence" => self.fence(),
            "addi" if (rd, rs1, constant) == (0, 0, 0) => "nop".into(),
            "addi" if rs1 == 0 => format!("li {d}, {constant}"),
            "addi" if constant == 0 => format!("mv {d}, {s}"),
            "add" if rs1 == 0 => format!("mv {d}, {t}"),
            "xori" if constant == -1 => format!("not {d}, {s}"),
            "sub" if rs1 == 0 => format!("neg {d}, {t}"),
            "sltiu" if constant == 1 => format!("seqz {d}, {s}"),
            "sltu" if rs1 == 0 => format!("snez {d}, {t}"),
            "beq" | "bne" | "blt" | "bge" if rs2 == 0 => {
                format!("{known}z {s}, {}", self.target())
            }
            "bge" if rs1 == 0 => format!("blez {t}, {}", self.target()),
            "blt" if rs1 == 0 => format!("bgtz {t}, {}", self.target()),
            "jal" if rd == 0 => format!("j {}", self.target()),
            "jal" if rd == 1 => format!("jal {}", self.target()),
            "jalr" if (rd, rs1, constant) == (0, 1, 0) => "ret".into(),
            "jalr" if (rd, constant) == (0, 0) => format!("jr {s}"),
            "jalr" if (rd, constant) == (1, 0) => format!("jalr {s}"),
            "csrrs" if rs1 == 0 => format!("csrr {d}, {}", self.csr()),
            "csrrw" | "csrrs" | "csrrc" if rd == 0 => {
                format!("csr{} {}, {s}", &known[4..], self.csr())
            }
            "csrrwi" | "csrrsi" | "csrrci" if rd == 0 => {
                format!("csr{} {}, {}", &known[4..], self.csr(), self.word >> 15 & 31)
            }
            _ => return None,
        })
    }

    fn long(&self, known: &str, form: Form) -> String {
        let Instruction { rd, rs1, rs2, immediate, .. } = self.instruction;
        let (d, s, t) = (register(rd), register(rs1), register(rs2));
        let (name, constant) = (known.replace('_', "."), immediate as i32);
        let order = ORDERS[(self.word >> 25 & 3) as usize];
        match form {
            Form::Registers(_) => format!("{name} {d}, {s}, {t}"),
            Form::Constant(_) | Form::Shift(_) => format!("{name} {d}, {s}, {constant}"),
            Form::Load(_) | Form::JumpRegister(_) => format!("{name} {d}, {constant}({s})"),
            Form::Store(_) => format!("{name} {t}, {constant}({s})"),
            Form::Branch(_) => format!("{name} {s}, {t}, {}", self.target()),
            Form::Upper(_) => format!("{name} {d}, {:#x}", immediate >> 12),
            Form::Jump(_) => format!("{name} {d}, {}", self.target()),
            Form::Csr(_) => format!("{name} {d}, {}, {s}", self.csr()),
            Form::CsrConstant(_) => {
                format!("{name} {d}, {}, {}", self.csr(), self.word >> 15 & 31)
            }
            Form::Atomic(_) => format!("{name}{order} {d}, {t}, ({s})"),
            Form::Reserve(_) => format!("{name}{order} {d}, ({s})"),
            Form::Plain(_) | Form::Word(_) => name,
        }
    }
}
