/** A container for drills, whose image is this machine as it is, so that none has to be made. */

import { spawnSync } from 'node:child_process';

/** As SITEFLEET_DRILL_CONTAINER has it. The limits are those that a confined root may set, too. */
export const CONTAINER = (
  process.env.SITEFLEET_TEST_CONTAINER ??
  'podman --runtime runc run --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --read-only-tmpfs=false --rootfs /:O'
).split(' ');

/** Whether containers run here. */
export function hasContainers(): boolean {
  const [engine = '', ...args] = CONTAINER;
  const options = ['--rm', '--network', 'none', '--read-only'];
  const run = args.indexOf('run') + 1;
  return spawnSync(engine, [...args.slice(0, run), ...options, ...args.slice(run), 'true']).status === 0;
}
