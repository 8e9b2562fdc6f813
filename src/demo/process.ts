import { type FleetOptions, startFleet } from './fleet.js';

/**
 * Runs a fleet as a separate process, so that measuring a client does not measure the sites:
 * `node process.js '{"sites":1000}'`. Prints one JSON line {port, sites: [{url, admin, password, unique_id}]} once it
 * responds, and ends when its standard input is closed. Takes the members of FleetOptions that JSON can represent; by
 * default calls are not recorded, answers are cached and the control path is enabled.
 */
async function run(argument: string | undefined): Promise<void> {
  const fleet = await startFleet({ cache: true, keepCalls: false, control: true, ...readOptions(argument) });
  const sites = fleet.sites.map((site) => ({
    url: site.url,
    admin: site.admin,
    password: site.password,
    unique_id: site.uniqueId,
  }));
  process.stdout.write(`${JSON.stringify({ port: fleet.port, sites })}\n`);
  process.stdin.resume();
  process.stdin.once('close', () => {
    void fleet.close().then(() => process.exit(0));
  });
}

function readOptions(argument: string | undefined): FleetOptions {
  const options: unknown = JSON.parse(argument ?? 'null');
  if (typeof options !== 'object' || options === null || !('sites' in options)) {
    throw new TypeError('expected one argument, a JSON object with at least "sites": process.js \'{"sites":10}\'');
  }
  // startFleet checks the members and names the one that is wrong.
  return options as FleetOptions;
}

try {
  await run(process.argv[2]);
} catch (error) {
  process.stderr.write(`simulated fleet: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
