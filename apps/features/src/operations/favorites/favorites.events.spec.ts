import { describeRows } from '../../../test/event-catalogue.ts';
import { favoriteRows } from '../../../test/event-catalogue/favorites.ts';

describeRows(favoriteRows);
