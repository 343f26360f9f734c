const CREDENTIAL = "tessera.credential";

/** The credential of the user, kept for this tab until it is closed. */
export const session = {
  get credential(): string | null {
    return sessionStorage.getItem(CREDENTIAL);
  },
  open(credential: string): void {
    sessionStorage.setItem(CREDENTIAL, credential);
  },
  close(): void {
    sessionStorage.removeItem(CREDENTIAL);
  },
};
