#!/usr/bin/env node
/** The command `sitefleet`. An assistant that starts `stdio` waits for it, so that command has a short way in. */

import { launchBundle } from './cli/launch.js';

const [command, ...more] = process.argv.slice(2);
if (command !== 'stdio' || more.length > 0 || !launchBundle()) await import('./cli/program.js');
