/** Events of this program; events.c beside this file says how both are built. */
public final class Events {
    static {
        System.loadLibrary("events");
    }

    /** Whether somebody listened. */
    public static native boolean reqDone(int id, String route);

    public static void main(String[] arguments) {
        int heard = 0;
        for (int id = 0; id < 3; ++id) {
            if (reqDone(id, "/item/" + id)) {
                ++heard;
            }
        }
        System.out.println(heard + " of 3 had a listener");
    }
}
