/** Settings with which reads wait for the writes before them, however busy the machine is, and are not marked as stale instead. */
export const longFreshnessTimeouts = {
  SEARCH_FRESHNESS_WAIT_MS: '30000',
  AUDIT_FRESHNESS_WAIT_MS: '30000',
  GATEWAY_DELIVERY_WAIT_TIMEOUT_MS: '30000',
  GATEWAY_PROJECTS_WAIT_TIMEOUT_MS: '30000',
};
