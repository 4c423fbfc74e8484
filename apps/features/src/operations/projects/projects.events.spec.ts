import { describeRows } from '../../../test/event-catalogue.ts';
import { projectRows } from '../../../test/event-catalogue/projects.ts';

describeRows(projectRows);
