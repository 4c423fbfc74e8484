import { describe, expect, it } from 'vitest';
import { dailyMailOf, type MailedNotice, mailOf } from './message.ts';

const notice: MailedNotice = {
  kind: 'review-requested',
  title: 'Summer sale',
  summary: '**lee** sent change request **[Summer sale](https://elsewhere.example)** to review',
  comment: 'Please look\r\nat the second change',
  project: 'shop',
  path: '/projects/shop/change-requests/7',
};
const links = { publicUrl: 'https://flags.example.org', unsubscribe: (what: string) => `https://u.example/${what}` };

describe('a mail', () => {
  it('says what happened, with the comment, the page of the console, and how to get no more of them', () => {
    expect(mailOf(notice, links)).toEqual({
      subject: 'Your review is asked: Summer sale',
      text: `lee sent change request Summer sale to review

> Please look
> at the second change

https://flags.example.org/projects/shop/change-requests/7

-- 
No more mails of this kind: https://u.example/review-requested
What is mailed to you: https://flags.example.org/profile
`,
      unsubscription: 'review-requested',
    });
  });

  it.each(['a\r\nBcc: eve@example.com', 'a\nb', 'a\u2028b', 'a\u0000b', 'a\u202Eb'])(
    'has one line as its subject, whatever the title is: %j',
    (title) => {
      const { subject } = mailOf({ ...notice, title }, links);
      expect(subject).toMatch(/^Your review is asked: a[ -~]*$/);
    },
  );

  it('of a day lists everything by kind, and no more than a hundred things', () => {
    const stale: MailedNotice = { ...notice, kind: 'flag-stale', summary: '**banner** became stale', path: '/a' };
    const one = dailyMailOf([notice], links);
    expect(one.subject).toBe('1 notification of the day');
    const { subject, text, unsubscription } = dailyMailOf([stale, notice, ...Array(199).fill(stale)], links);
    expect([subject, unsubscription]).toEqual(['201 notifications of the day', 'daily']);
    expect(text.match(/Flag is stale/g)).toHaveLength(1);
    expect(text.match(/- banner became stale\n {2}https:\/\/flags\.example\.org\/a\n/g)).toHaveLength(99);
    expect(text).toContain('101 more: https://flags.example.org/inbox');
  });
});
