package tallyport.relay;

/** Where the relay says what it does: the console when it runs alone, the server's log when it is a plugin. */
interface Log {
    void info(String text);

    void warn(String text);
}
