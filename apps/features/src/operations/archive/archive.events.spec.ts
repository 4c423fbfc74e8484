import { describeRows } from '../../../test/event-catalogue.ts';
import { archiveRows } from '../../../test/event-catalogue/archive.ts';

describeRows(archiveRows);
