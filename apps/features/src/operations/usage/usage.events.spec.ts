import { describeRows } from '../../../test/event-catalogue.ts';
import { usageRows } from '../../../test/event-catalogue/usage.ts';

describeRows(usageRows);
