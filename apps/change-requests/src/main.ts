import { run } from '@bunting/runtime';
import { changeRequestsService } from './service.ts';

void run([changeRequestsService]);
