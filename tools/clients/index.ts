import type { Operation } from '../../src/operation/operation.js';
import addClient from './add-client-v1.js';
import countClientSites from './count-client-sites-v1.js';
import countClients from './count-clients-v1.js';
import deleteClient from './delete-client-v1.js';
import getClientCosts from './get-client-costs-v1.js';
import getClientSites from './get-client-sites-v1.js';
import getClient from './get-client-v1.js';
import listClients from './list-clients-v1.js';
import suspendClient from './suspend-client-v1.js';
import unsuspendClient from './unsuspend-client-v1.js';
import updateClient from './update-client-v1.js';

/** The operations on clients, in the order they are listed. */
export const clients: readonly Operation[] = [
  listClients,
  countClients,
  getClient,
  addClient,
  updateClient,
  deleteClient,
  getClientSites,
  countClientSites,
  getClientCosts,
  suspendClient,
  unsuspendClient,
];
