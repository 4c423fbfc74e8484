import { run } from '@bunting/runtime';
import { searchService } from './service.ts';

void run([searchService]);
