//! An event's payload: the fixed part, and behind it texts and bytes where they lie. For the code that `event!` makes.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::null;

/// struct iovec
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IoVec {
    base: *const c_void,
    size: usize,
}

static NUL: u8 = 0;

/// `FIXED` bytes, which the fields fill in their order; at most `VECTORS` vectors, the first for the fixed part. What
/// is put in by reference outlives it.
pub struct Payload<const FIXED: usize, const VECTORS: usize> {
    fixed: [MaybeUninit<u8>; FIXED],
    filled: usize,
    vectors: [IoVec; VECTORS],
    count: usize,
    size: usize,
}

impl<const FIXED: usize, const VECTORS: usize> Payload<FIXED, VECTORS> {
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Payload {
            fixed: [MaybeUninit::uninit(); FIXED],
            filled: 0,
            vectors: [IoVec { base: null(), size: 0 }; VECTORS],
            count: 1,
            size: FIXED,
        }
    }

    #[inline(always)]
    pub fn put_fixed(&mut self, bytes: &[u8]) {
        for (place, byte) in self.fixed[self.filled..self.filled + bytes.len()].iter_mut().zip(bytes) {
            place.write(*byte);
        }
        self.filled += bytes.len();
    }

    #[inline(always)]
    pub fn put_chars(&mut self, text: &str, size: usize) {
        let length = text.len().min(size);
        self.put_fixed(&text.as_bytes()[..length]);
        for place in &mut self.fixed[self.filled..self.filled + size - length] {
            place.write(0);
        }
        self.filled += size - length;
    }

    #[inline(always)]
    pub fn put_text(&mut self, text: &str) {
        self.put_location(text.len() + 1);
        self.add(text.as_ptr(), text.len());
        self.add(&NUL, 1);
    }

    #[inline(always)]
    pub fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_location(bytes.len());
        self.add(bytes.as_ptr(), bytes.len());
    }

    // Where the data lies, counted from behind the location. What does not fit its 16 bits is too large to be emitted.
    #[inline(always)]
    fn put_location(&mut self, size: usize) {
        let offset = self.size - self.filled - 4;
        self.put_fixed(&((size << 16) as u32 | (offset & 0xffff) as u32).to_ne_bytes());
    }

    #[inline(always)]
    fn add(&mut self, data: *const u8, size: usize) {
        self.vectors[self.count] = IoVec { base: data.cast(), size };
        self.count += 1;
        self.size += size;
    }

    #[inline(always)]
    pub fn with_vectors(&mut self, write: impl FnOnce(&[IoVec], usize) -> bool) -> bool {
        debug_assert!(self.filled == FIXED);
        self.vectors[0] = IoVec { base: self.fixed.as_ptr().cast(), size: FIXED };
        write(&self.vectors[..self.count], self.size)
    }
}
