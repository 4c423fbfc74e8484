import { describeRows } from '../../../test/event-catalogue.ts';
import { strategyRows } from '../../../test/event-catalogue/strategies.ts';

describeRows(strategyRows);
