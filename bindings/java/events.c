/* The events of a Java program, for JNI: declared as in any C program, a native method each.
 *
 *     cc -shared -fPIC -O2 -I$JAVA_HOME/include -I$JAVA_HOME/include/linux events.c -o libevents.so -llandtrace
 *     javac Events.java && landtrace record -- java -Djava.library.path=. Events */
#include <jni.h>
#include <landtrace/landtrace.h>

LANDTRACE_EVENT(req_done, LT_U32(id), LT_STR(route));

JNIEXPORT jboolean JNICALL Java_Events_reqDone(JNIEnv* java, jclass events, jint id, jstring route) {
  (void)events;
  if (!LANDTRACE_ENABLED(req_done)) return JNI_FALSE;
  const char* const text = route ? (*java)->GetStringUTFChars(java, route, NULL) : NULL;
  if (route && !text) return JNI_FALSE; /* an OutOfMemoryError is pending */
  const int result = LANDTRACE_EMIT(req_done, (uint32_t)id, text);
  if (text) (*java)->ReleaseStringUTFChars(java, route, text);
  return result == 0 ? JNI_TRUE : JNI_FALSE;
}
