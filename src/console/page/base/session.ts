const CREDENTIAL = "tessera.credential";

/** The credential of the user, kept for this tab until it is closed. */
export const session = {
  /** Empty before the user has signed in. */
  get credential(): string {
    return sessionStorage.getItem(CREDENTIAL) ?? "";
  },
  open(credential: string): void {
    sessionStorage.setItem(CREDENTIAL, credential);
    session.onChange(true);
  },
  close(): void {
    sessionStorage.removeItem(CREDENTIAL);
    session.onChange(false);
  },
  onChange: (_isOpen: boolean): void => {},
};
