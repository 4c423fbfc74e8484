import type { NotificationKind, Unsubscription } from '@bunting/contracts';
import { onOneLine, plainText, shortened } from '../messages/markdown.ts';

/** Something that a person is told by mail. */
export interface MailedNotice {
  readonly kind: NotificationKind;
  readonly title: string;
  readonly summary: string;
  readonly comment: string | null;
  readonly project: string | null;
  readonly path: string;
}

export interface Mail {
  readonly subject: string;
  readonly text: string;
  /** what the link in it ends */
  readonly unsubscription: Unsubscription;
}

/** The addresses in a mail. */
export interface MailLinks {
  /** where the console is, without a slash at the end */
  readonly publicUrl: string;
  readonly unsubscribe: (unsubscription: Unsubscription) => string;
}

const headings: Readonly<Record<NotificationKind, string>> = {
  'review-requested': 'Your review is asked',
  'change-request-commented': 'Comment',
  'change-request-approved': 'Approved',
  'change-request-returned': 'Needs approvals again',
  'change-request-rejected': 'Rejected',
  'change-request-scheduled': 'Scheduled',
  'change-request-applied': 'Applied',
  'change-request-failed': 'Failed or suspended',
  'flag-changed': 'Flag changed',
  'flag-stale': 'Flag is stale',
  'token-expiring': 'Token ends soon',
};

const maxSubjectTitle = 120;
const maxSummary = 1_000;
/** Further ones are in the inbox. */
const maxListed = 100;

function quoted(comment: string): string {
  const lines = comment.split(/[\n\r\u2028\u2029]+/).map((line) => `> ${onOneLine(line)}`);
  return `${lines.join('\n')}\n\n`;
}

function footer({ publicUrl, unsubscribe }: MailLinks, unsubscription: Unsubscription, what: string): string {
  return `-- \nNo more ${what}: ${unsubscribe(unsubscription)}\nWhat is mailed to you: ${publicUrl}/profile\n`;
}

/** The mail about one thing. */
export function mailOf(notice: MailedNotice, links: MailLinks): Mail {
  const { kind, title, summary, comment, path } = notice;
  const text = onOneLine(shortened(plainText(summary), maxSummary));
  return {
    subject: `${headings[kind]}: ${shortened(onOneLine(title), maxSubjectTitle)}`,
    text: `${text}\n\n${comment === null ? '' : quoted(comment)}${links.publicUrl}${path}\n\n${footer(links, kind, 'mails of this kind')}`,
    unsubscription: kind,
  };
}

/** The mail of a day, about everything that waits for it. */
export function dailyMailOf(notices: readonly MailedNotice[], links: MailLinks): Mail {
  const { publicUrl } = links;
  const listed = notices.slice(0, maxListed);
  const parts = [...Map.groupBy(listed, ({ kind }) => kind)].map(([kind, ofKind]) => {
    const lines = ofKind.map(
      ({ summary, path }) => `- ${onOneLine(shortened(plainText(summary), maxSummary))}\n  ${publicUrl}${path}\n`,
    );
    return `${headings[kind]}\n\n${lines.join('')}`;
  });
  const more = notices.length - listed.length;
  return {
    subject: notices.length === 1 ? '1 notification of the day' : `${notices.length} notifications of the day`,
    text: `${parts.join('\n')}\n${more === 0 ? '' : `${more} more: ${publicUrl}/inbox\n\n`}${footer(links, 'daily', 'daily mails')}`,
    unsubscription: 'daily',
  };
}
