import { describeRows } from '../../../test/event-catalogue.ts';
import { dependencyRows } from '../../../test/event-catalogue/dependencies.ts';

describeRows(dependencyRows);
