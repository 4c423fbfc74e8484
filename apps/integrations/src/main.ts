import { run } from '@bunting/runtime';
import { integrationsService } from './service.ts';

void run([integrationsService]);
