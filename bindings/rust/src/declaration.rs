//! An event's declaration, where `r#type` stands for `type`. For the code that `event!` makes.

// No name has a '#' in it.
const fn is_raw(text: &[u8], at: usize) -> bool {
    text[at] == b'r' && at + 1 < text.len() && text[at + 1] == b'#'
}

/// The length of plain().
pub const fn plain_length(declaration: &str) -> usize {
    let text = declaration.as_bytes();
    let (mut at, mut length) = (0, text.len());
    while at < text.len() {
        if is_raw(text, at) {
            length -= 2;
        }
        at += 1;
    }
    length
}

/// The declaration without what makes identifiers raw.
pub const fn plain<const LENGTH: usize>(declaration: &str) -> [u8; LENGTH] {
    let text = declaration.as_bytes();
    let mut all = [0; LENGTH];
    let (mut at, mut length) = (0, 0);
    while at < text.len() {
        if is_raw(text, at) {
            at += 2;
        }
        all[length] = text[at];
        length += 1;
        at += 1;
    }
    all
}
