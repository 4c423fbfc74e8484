import { describeRows } from '../../../test/event-catalogue.ts';
import { segmentRows } from '../../../test/event-catalogue/segments.ts';

describeRows(segmentRows);
