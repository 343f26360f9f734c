import { Socket } from "node:net";

/** The driver's options for the address of the server, in lists of one. */
interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** A Unix socket, instead of host and port. */
  readonly path?: string | false;
}

interface Activity {
  bytesRead: number;
  /** The last look at which bytes had arrived. */
  heardAt: number;
}

/**
 * The sockets of one connection pool. The driver gives up on a connection only when its socket closes,
 * so a server that is frozen or cut off would hold the pool's connections for good.
 */
export class PoolSockets {
  readonly #open = new Map<Socket, Activity>();
  #looks = 0;

  /** Begins to connect. The driver's listeners report the outcome; its writes are buffered. */
  connect(address: Address): Socket {
    const socket = new Socket();
    const [host, port] = [address.host[0] as string, address.port[0] as number];
    if (address.path) socket.connect(address.path);
    else socket.connect(port, host);
    this.#open.set(socket, { bytesRead: 0, heardAt: this.#looks });
    // The driver reads these properties for TLS and for its messages.
    return Object.assign(socket, { host, port });
  }

  /** True when bytes have arrived on any socket since the last look. */
  look(): boolean {
    this.#looks++;
    let heard = false;
    for (const [socket, activity] of this.#open) {
      if (socket.destroyed) this.#open.delete(socket);
      else if (socket.bytesRead !== activity.bytesRead) {
        activity.bytesRead = socket.bytesRead;
        activity.heardAt = this.#looks;
        heard = true;
      }
    }
    return heard;
  }

  /** Closes the sockets on which nothing has arrived for this many looks. The driver opens others. */
  closeSilent(looks: number): void {
    for (const [socket, { heardAt }] of this.#open) {
      if (this.#looks - heardAt < looks) continue;
      this.#open.delete(socket);
      socket.destroy();
    }
  }
}
