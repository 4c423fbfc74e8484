import { describeRows } from '../../../test/event-catalogue.ts';
import { featureRows } from '../../../test/event-catalogue/features.ts';

describeRows(featureRows);
