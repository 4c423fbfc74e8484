import type { NotificationKind } from '@bunting/contracts';

/** What people are told of, in their words. */
export const notificationKindTexts: Readonly<Record<NotificationKind, string>> = {
  'review-requested': 'A review is asked of me',
  'change-request-commented': 'Comments on my change requests and reviews',
  'change-request-approved': 'My change request was approved',
  'change-request-returned': 'My change request needs approvals again',
  'change-request-rejected': 'My change request was rejected or cancelled',
  'change-request-scheduled': 'My change request was scheduled',
  'change-request-applied': 'My change request was applied',
  'change-request-failed': 'A scheduled change failed or was suspended',
  'flag-changed': 'My flag was changed in production',
  'flag-stale': 'My flag became stale',
  'token-expiring': 'My token is about to end',
};
