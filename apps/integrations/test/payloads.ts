import type { Event } from '@bunting/contracts';

/** A flag that was switched on in production, as the log has it; the sentence is left to who needs one. */
export const switchedOn: Event = {
  id: 7,
  createdAt: '2026-11-28T08:00:00.000Z',
  type: 'feature-environment-enabled',
  createdBy: 'mia',
  createdByUserId: 1,
  environment: 'production',
  project: 'shop',
  featureName: 'banner',
  data: null,
  preData: null,
  tags: [],
};

/** What Alertmanager sends to a webhook, with a label of Kubernetes. */
export const alertmanagerSignal = {
  receiver: 'bunting',
  status: 'firing',
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'HighErrorRate', job: 'checkout', severity: 'page', 'app.kubernetes.io/name': 'shop' },
      annotations: { summary: '5 % of requests fail' },
      startsAt: '2026-03-01T11:58:43.155Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus:9090/graph?g0.expr=errors',
      fingerprint: 'b8e0d1c2a3f4e5d6',
    },
  ],
  groupLabels: { alertname: 'HighErrorRate' },
  commonLabels: { alertname: 'HighErrorRate', job: 'checkout', severity: 'page' },
  commonAnnotations: { summary: '5 % of requests fail' },
  externalURL: 'http://alertmanager:9093',
  version: '4',
  groupKey: '{}:{alertname="HighErrorRate"}',
  truncatedAlerts: 0,
};

/** What a contact point of Grafana sends to a webhook. */
export const grafanaSignal = {
  receiver: 'bunting',
  status: 'firing',
  orgId: 1,
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'CheckoutErrors', grafana_folder: 'shop', severity: 'critical' },
      annotations: { summary: 'Checkout fails' },
      startsAt: '2026-03-01T11:58:40Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://grafana:3000/alerting/grafana/d3f/view',
      fingerprint: 'c6eadffa33fcdf37',
      silenceURL: 'http://grafana:3000/alerting/silence/new',
      values: { B: 44.2, C: 1 },
      valueString: "[ var='B' labels={} value=44.2 ]",
    },
  ],
  groupLabels: { alertname: 'CheckoutErrors' },
  commonLabels: { alertname: 'CheckoutErrors', grafana_folder: 'shop', severity: 'critical' },
  commonAnnotations: { summary: 'Checkout fails' },
  externalURL: 'http://grafana:3000/',
  version: '1',
  groupKey: '{}:{alertname="CheckoutErrors"}',
  truncatedAlerts: 0,
  title: '[FIRING:1] CheckoutErrors (shop critical)',
  state: 'alerting',
  message: '**Firing**',
};
