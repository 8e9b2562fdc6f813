import { createServer, type Server, type Socket } from 'node:net';
import type { Counters } from './counters.js';
import type { FleetMode } from './options.js';

/** Where one site, or all of them, can be reached. */
export interface Place {
  host: string;
  port: number;
}

const BACKLOG = 2048;

/** The TCP side of a fleet: opens listeners, hands sockets on, and closes everything it opened. */
export class Listeners {
  private readonly servers: Server[] = [];
  private readonly sockets = new Set<Socket>();

  constructor(
    private readonly handOn: (socket: Socket) => void,
    private readonly counters: Counters,
  ) {}

  /** Opens the places of a fleet: one for mode `path`, else one per site, in the order of the sites. */
  async open(mode: FleetMode, sites: number, host: string, port: number): Promise<Place[]> {
    if (mode === 'path') return [await this.listen(host, port)];
    const places: Place[] = [];
    for (let i = 0; i < sites; i += 1) {
      if (mode === 'port') places.push(await this.listen(host, port === 0 ? 0 : port + i));
      else places.push(await this.listen(addressOf(i), port === 0 ? (places[0]?.port ?? 0) : port));
    }
    return places;
  }

  async close(): Promise<void> {
    const closed = this.servers.map((server) => new Promise<void>((done) => server.close(() => done())));
    for (const socket of this.sockets) socket.destroy();
    await Promise.all(closed);
  }

  private async listen(host: string, port: number): Promise<Place> {
    const server = createServer({ noDelay: true }, (socket) => this.accept(socket));
    await new Promise<void>((done, fail) => {
      server.once('error', fail);
      server.listen({ host, port, backlog: BACKLOG }, done);
    });
    this.servers.push(server);
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error(`no TCP address for ${host}`);
    return { host, port: bound.port };
  }

  private accept(socket: Socket): void {
    this.sockets.add(socket);
    this.counters.connected();
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.sockets.delete(socket);
      this.counters.disconnected();
    });
    this.handOn(socket);
  }
}

/** A loopback address of its own for site `index`: 127.20.0.1, 127.20.0.2, … */
function addressOf(index: number): string {
  const low = (index % 250) + 1;
  const middle = Math.floor(index / 250) % 250;
  const high = 20 + Math.floor(index / 62500);
  return `127.${high}.${middle}.${low}`;
}
