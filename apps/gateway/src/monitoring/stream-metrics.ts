import { Gauge, type Registry } from 'prom-client';

const name = 'bunting_gateway_open_streams';

/** The gauge of responses that the gateway streams now, by kind. One per registry. */
export const openStreams = (registry: Registry): Gauge<'kind'> =>
  (registry.getSingleMetric(name) as Gauge<'kind'> | undefined) ??
  new Gauge({
    name,
    help: 'responses that the gateway streams at the moment, by kind',
    labelNames: ['kind'],
    registers: [registry],
  });
