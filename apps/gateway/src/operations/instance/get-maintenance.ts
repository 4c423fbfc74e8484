import { implement } from '@bunting/bus';
import { GetMaintenance } from '@bunting/contracts';

export const getMaintenanceEndpoint = () => implement(GetMaintenance, async () => ({ enabled: false }));
