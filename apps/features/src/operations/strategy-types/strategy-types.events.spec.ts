import { describeRows } from '../../../test/event-catalogue.ts';
import { strategyTypeRows } from '../../../test/event-catalogue/strategy-types.ts';

describeRows(strategyTypeRows);
