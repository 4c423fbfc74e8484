import { run } from '@bunting/runtime';
import { featuresService } from './service.ts';

void run([featuresService]);
