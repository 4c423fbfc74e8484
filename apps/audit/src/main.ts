import { run } from '@bunting/runtime';
import { auditService } from './service.ts';

void run([auditService]);
