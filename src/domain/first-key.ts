/** The message wherever people look for a credential before the first key exists. */
export const NO_KEY_YET = "The database has no API key yet. The first one:";

/** The arguments of `tessera` that create the first key. */
export const FIRST_KEY_ARGUMENTS = "keys create --user you@example.com --name first";
