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
