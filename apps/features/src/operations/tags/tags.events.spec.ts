import { describeRows } from '../../../test/event-catalogue.ts';
import { tagRows } from '../../../test/event-catalogue/tags.ts';

describeRows(tagRows);
