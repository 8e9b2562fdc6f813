/** Entry of the process that syncs an embedded replica. */

import { serveSyncs } from './store/embedded-replica-child.js';

serveSyncs();
