/** Entry point of the process that syncs an embedded replica. */

import { serveSyncs } from '../store/replica/process.js';

serveSyncs();
