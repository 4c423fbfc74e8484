import { describeRows } from '../../../test/event-catalogue.ts';
import { environmentRows } from '../../../test/event-catalogue/environments.ts';

describeRows(environmentRows);
