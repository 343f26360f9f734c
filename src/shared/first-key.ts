/** Said wherever people look for a credential that nobody can have yet. */
export const NO_KEY_YET = "The database has no API key yet. The first one:";

/** The arguments of `tessera` that make the first key. */
export const FIRST_KEY_ARGUMENTS = "keys create --user you@example.com --name first";
