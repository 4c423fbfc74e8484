import { describeRows } from '../../../test/event-catalogue.ts';
import { contextFieldRows } from '../../../test/event-catalogue/context-fields.ts';

describeRows(contextFieldRows);
