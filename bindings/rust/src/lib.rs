//! Trace events of a Rust program, by liblandtrace.
//!
//! ```no_run
//! landtrace::event! {
//!     /// A request was answered.
//!     pub req_done(id: u32, route: str)
//! }
//!
//! # let page = "";
//! req_done::emit(42, "/index"); // a test and a branch while nobody listens
//! landtrace::emit!(req_done, 42, &std::format!("/{page}")); // arguments are evaluated only if somebody does
//! ```
//!
//! Declaring an event is all: it registers itself before `main()`. Where it goes, and what that means for threads,
//! signals and fork, stands in `<landtrace/landtrace.h>`. Whatever language declares the same name and fields, it is
//! one event.
//!
//! | field          | value            | declared as                               |
//! |----------------|------------------|-------------------------------------------|
//! | `u8` ... `u64` | the same         | u8 ... u64                                |
//! | `i8` ... `i64` | the same         | s8 ... s64                                |
//! | `bool`         | the same         | u8                                        |
//! | `f32`, `f64`   | the same         | struct float NAME 4, struct double NAME 8 |
//! | `str`          | `&str`           | __rel_loc char[], with a NUL              |
//! | `[u8]`         | `&[u8]`          | __rel_loc u8[]                            |
//! | `[char; N]`    | `&str`           | char[N]: padded with NULs, or cut         |
//!
//! A raw identifier is declared without what makes it one: `r#type` as type.
//!
//! `NAME::emit()` is thread-safe and async-signal-safe, allocates nothing and does not panic. It says whether somebody
//! listened; a payload of more than [`MAX_PAYLOAD`] bytes is not emitted.
//!
//! A shared library calls `NAME::unregister()` for each of its events before `dlclose()` unloads it. That is unsafe: no
//! other thread may be in the event's `emit()`.

#![no_std]

#[doc(hidden)]
pub mod declaration;
#[doc(hidden)]
pub mod payload;

use core::cell::UnsafeCell;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use payload::IoVec;

/// Largest payload in bytes.
pub const MAX_PAYLOAD: usize = 65536;

// struct landtrace_event.
#[repr(C)]
struct RawEvent {
    enable: AtomicPtr<AtomicU32>,
    word: u32,
    index: i32,
    min_size: u32,
    backend: u16,
    flags: u16,
    declaration: *const u8,
    next: *mut RawEvent,
}

extern "C" {
    fn landtrace_register(event: *mut RawEvent, declaration: *const u8, flags: u32) -> i32;
    fn landtrace_unregister(event: *mut RawEvent) -> i32;
    fn landtrace_attach() -> i32;
    fn landtrace_helper(on: i32) -> i32;
    fn landtrace_emit_enabled(event: *const RawEvent, vectors: *const IoVec, count: i32, size: usize) -> i32;
}

/// What [`event!`] declares.
#[repr(transparent)]
pub struct Event(UnsafeCell<RawEvent>);

// The library has locks of its own; what emit() reads, it changes by single stores.
unsafe impl Sync for Event {}

impl Event {
    #[doc(hidden)]
    #[allow(clippy::new_without_default)]
    pub const fn new(never: &'static AtomicU32) -> Event {
        Event(UnsafeCell::new(RawEvent {
            enable: AtomicPtr::new(never as *const AtomicU32 as *mut AtomicU32),
            word: 0,
            index: -1,
            min_size: 0,
            backend: 0,
            flags: 0,
            declaration: null(),
            next: null_mut(),
        }))
    }

    #[doc(hidden)]
    #[inline(always)]
    pub fn enabled(&self) -> bool {
        // It leads to a word that is always there: the domain's, the event's own, or one that is 0.
        unsafe { (*(*self.0.get()).enable.load(Ordering::Relaxed)).load(Ordering::Relaxed) != 0 }
    }

    /// `declaration` ends with a NUL.
    #[doc(hidden)]
    pub fn register(&'static self, declaration: &'static [u8]) -> i32 {
        const RETRY: u32 = 8; // LANDTRACE_RETRY
        unsafe { landtrace_register(self.0.get(), declaration.as_ptr(), RETRY) }
    }

    /// # Safety
    ///
    /// No other thread is in write().
    #[doc(hidden)]
    pub unsafe fn unregister(&'static self) -> i32 {
        landtrace_unregister(self.0.get())
    }

    /// Of an event that is enabled.
    #[doc(hidden)]
    #[inline(always)]
    pub fn write(&self, vectors: &[IoVec], size: usize) -> bool {
        size <= MAX_PAYLOAD
            && unsafe { landtrace_emit_enabled(self.0.get(), vectors.as_ptr(), vectors.len() as i32, size) == 0 }
    }
}

/// Looks for a domain again: a program without the library's helper calls it now and then. How many events found one.
pub fn attach() -> i32 {
    unsafe { landtrace_attach() }
}

/// Whether the library may have its helper, a thread that finds a domain that comes later: landtrace_helper().
pub fn helper(on: bool) -> i32 {
    unsafe { landtrace_helper(on.into()) }
}

/// Declares an event: `event! { pub NAME(FIELD: TYPE, ...) }` makes a module NAME with `emit()`, `enabled()`,
/// `registration()` (0, or a negative errno of landtrace_register()) and `unregister()`.
#[macro_export]
macro_rules! event {
    ($(#[$about:meta])* $visible:vis $name:ident($($field:ident : $type:tt),* $(,)?)) => {
        $(#[$about])*
        #[allow(non_snake_case, dead_code)]
        $visible mod $name {
            use $crate::payload::{IoVec, Payload};
            use ::core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

            const FIXED: usize = 0 $(+ $crate::__field!(size $type))*;
            const VECTORS: usize = 1 $(+ $crate::__field!(vectors $type))*;
            const _: () = assert!(VECTORS <= 64, "too many texts");

            const NAMES: &str = $crate::__declaration!($name $($field $type)*);
            static DECLARATION: [u8; $crate::declaration::plain_length(NAMES)] = $crate::declaration::plain(NAMES);
            static NEVER: AtomicU32 = AtomicU32::new(0);
            static EVENT: $crate::Event = $crate::Event::new(&NEVER);
            static REGISTRATION: AtomicI32 = AtomicI32::new(0);

            extern "C" fn register() {
                REGISTRATION.store(EVENT.register(&DECLARATION), Ordering::Relaxed);
            }
            #[used]
            #[link_section = ".init_array"]
            static AT_START: extern "C" fn() = register;

            /// 0, or why there was no such event at the start, a negative errno; the library tries again.
            pub fn registration() -> i32 {
                REGISTRATION.load(Ordering::Relaxed)
            }
            /// Ends it: 0, or a negative errno.
            ///
            /// # Safety
            ///
            /// No other thread is in emit().
            pub unsafe fn unregister() -> i32 {
                EVENT.unregister()
            }
            /// Whether somebody listens.
            #[inline(always)]
            pub fn enabled() -> bool {
                EVENT.enabled()
            }
            /// Whether somebody listened.
            #[inline(always)]
            pub fn emit($($field: $crate::__field!(value $type)),*) -> bool {
                EVENT.enabled() && emit_enabled($($field),*)
            }
            #[cold]
            #[inline(never)]
            fn emit_enabled($($field: $crate::__field!(value $type)),*) -> bool {
                // So that whoever links this code links what registers the event.
                unsafe { ::core::ptr::read_volatile(&AT_START) };
                #[allow(unused_mut)]
                let mut payload = Payload::<FIXED, VECTORS>::new();
                $($crate::__field!(put payload $field $type);)*
                payload.with_vectors(|vectors: &[IoVec], size| EVENT.write(vectors, size))
            }
        }
    };
}

/// `emit!(NAME, VALUE, ...)`: NAME::emit(), whose values are evaluated only if somebody listens.
#[macro_export]
macro_rules! emit {
    ($name:path $(, $value:expr)* $(,)?) => {{
        use $name as __landtrace_event;
        __landtrace_event::enabled() && __landtrace_event::emit($($value),*)
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __declaration {
    ($name:ident) => { concat!(stringify!($name), "\0") };
    ($name:ident $($field:ident $type:tt)+) => {
        concat!(stringify!($name), " ", $($crate::__field!(declare $field $type), ";",)+ "\0")
    };
}

// What a field's type means: its size in the fixed part, vectors behind that, the value's type, the declaration.
#[doc(hidden)]
#[macro_export]
macro_rules! __field {
    (size str) => { 4 };
    (size [u8]) => { 4 };
    (size [char; $size:literal]) => { $size };
    (size $type:ident) => { ::core::mem::size_of::<$type>() };

    (vectors str) => { 2 };
    (vectors [u8]) => { 1 };
    (vectors $type:tt) => { 0 };

    (value str) => { &str };
    (value [u8]) => { &[u8] };
    (value [char; $size:literal]) => { &str };
    (value $type:ident) => { $type };

    (put $payload:ident $field:ident str) => { $payload.put_text($field) };
    (put $payload:ident $field:ident [u8]) => { $payload.put_bytes($field) };
    (put $payload:ident $field:ident [char; $size:literal]) => { $payload.put_chars($field, $size) };
    (put $payload:ident $field:ident bool) => { $payload.put_fixed(&[$field as u8]) };
    (put $payload:ident $field:ident $type:ident) => { $payload.put_fixed(&$field.to_ne_bytes()) };

    (declare $field:ident u8) => { concat!("u8 ", stringify!($field)) };
    (declare $field:ident u16) => { concat!("u16 ", stringify!($field)) };
    (declare $field:ident u32) => { concat!("u32 ", stringify!($field)) };
    (declare $field:ident u64) => { concat!("u64 ", stringify!($field)) };
    (declare $field:ident i8) => { concat!("s8 ", stringify!($field)) };
    (declare $field:ident i16) => { concat!("s16 ", stringify!($field)) };
    (declare $field:ident i32) => { concat!("s32 ", stringify!($field)) };
    (declare $field:ident i64) => { concat!("s64 ", stringify!($field)) };
    (declare $field:ident bool) => { concat!("u8 ", stringify!($field)) };
    (declare $field:ident f32) => { concat!("struct float ", stringify!($field), " 4") };
    (declare $field:ident f64) => { concat!("struct double ", stringify!($field), " 8") };
    (declare $field:ident str) => { concat!("__rel_loc char[] ", stringify!($field)) };
    (declare $field:ident [u8]) => { concat!("__rel_loc u8[] ", stringify!($field)) };
    (declare $field:ident [char; $size:literal]) => {
        concat!("char[", stringify!($size), "] ", stringify!($field))
    };
}
