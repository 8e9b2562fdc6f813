import type { Operation } from '../../src/operation/operation.js';
import getFleetBrief from './get-fleet-brief-v1.js';
import listVulnerabilities from './list-vulnerabilities-v1.js';
import searchFleet from './search-fleet-v1.js';

export const insight: readonly Operation[] = [searchFleet, getFleetBrief, listVulnerabilities];
