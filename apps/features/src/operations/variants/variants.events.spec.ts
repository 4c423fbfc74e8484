import { describeRows } from '../../../test/event-catalogue.ts';
import { variantRows } from '../../../test/event-catalogue/variants.ts';

describeRows(variantRows);
