import type { Operation } from '../../src/operation/operation.js';
import buildReport from './build-report-v1.js';
import listReportSegments from './list-report-segments-v1.js';

export const reports: readonly Operation[] = [listReportSegments, buildReport];
