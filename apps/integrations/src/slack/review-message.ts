import type { DescribeChangeRequest, ReplyOf } from '@bunting/contracts';
import { escapeForSlack, onOneLine, plainText } from '../messages/markdown.ts';
import { commentField, commentForm, type Interaction, type ShownRequest } from './interaction.ts';

export type Description = ReplyOf<typeof DescribeChangeRequest>;

/** How many changes a message shows, each as a block: Slack takes 50 blocks of 3,000 characters. */
export const maxShownChanges = 10;
/** The most characters of a part as they are sent: five parts fit into a block. */
const maxPart = 500;

/** Text of others on one line of a message, escaped, with at most `max` characters as they are sent. */
function line(text: string, max = maxPart): string {
  const escaped = escapeForSlack(onOneLine(text).replaceAll(/\s+/g, ' '));
  if (escaped.length <= max) return escaped;
  return `${escaped
    .slice(0, max - 1)
    .replace(/&[a-z]*$/, '')
    .toWellFormed()
    .replace(/\ufffd$/, '')}…`;
}

function isCut(text: string | undefined): boolean {
  return text !== undefined && line(text) !== escapeForSlack(text);
}

/** Text of Slack's syntax in which addresses and names of others stay text. */
function section(text: string) {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

function changeText({ subject, sentence, before, after, warning }: Description['changes'][number]): string {
  return [
    `*${line(subject)}*: ${line(sentence)}`,
    ...(before === undefined ? [] : [`Before: ${line(before)}`]),
    ...(after === undefined ? [] : [`After: ${line(after)}`]),
    ...(warning === undefined ? [] : [`:warning: ${line(warning)}`]),
  ].join('\n');
}

/** The change request as the buttons name it: what is approved is what the message has shown. */
function shownRequest(id: number, { uid, project, revision, basis }: Description): ShownRequest {
  return { id, ...(uid === null ? {} : { uid }), project, revision, ...(basis === null ? {} : { basis }) };
}

function stateText({ state, approvals, minApprovals, scheduledAt }: Description): string {
  const counted = `${approvals} of ${minApprovals} ${minApprovals === 1 ? 'approval' : 'approvals'}`;
  return `${state === 'Scheduled' && scheduledAt !== null ? `Scheduled for ${scheduledAt}` : state} · ${counted}`;
}

/**
 * The message about a change request: who wants to change what where, what has happened last, and buttons while it is in review.
 * @param description undefined for a request that does not exist, or is not shown here, any more
 * @param note the newest sentence of the log about it, in Markdown
 */
export function reviewMessage(id: number, description: Description | undefined, note: string, publicUrl: string) {
  const noteText = line(plainText(note), 1_500);
  if (description === undefined)
    return {
      text: noteText === '' ? `#${id}` : noteText,
      blocks: [
        ...(noteText === '' ? [] : [section(noteText)]),
        section('_It does not exist any more, or is not shown here any more._'),
      ],
    };
  const { project, environment, title, author, state, changes, changeCount } = description;
  const address = `${publicUrl}/projects/${encodeURIComponent(project)}/change-requests/${id}`;
  const more = changeCount - changes.length;
  const value = JSON.stringify(shownRequest(id, description));
  const isInReview = state === 'In review';
  // Four eyes: only what a reviewer can read here may be approved here.
  const isComplete =
    description.isComplete &&
    more <= 0 &&
    !isCut(environment) &&
    !changes.some(({ subject, sentence, before, after, warning }) =>
      [subject, sentence, before, after, warning].some(isCut),
    );
  const who = author === '' ? 'Somebody' : line(author, 200);
  const header = `*${who}* wants to change *${line(environment, 200)}* of *${line(project, 200)}*: <${address}|${line(`#${id} ${title}`.replaceAll('|', '¦'))}>`;
  const button = (action: string, label: string, further: object = {}) => ({
    type: 'button',
    action_id: action,
    text: { type: 'plain_text', text: label },
    value,
    ...further,
  });
  const confirm = (verb: string, style: string) => ({
    confirm: {
      title: { type: 'plain_text', text: `${verb} #${id}?` },
      text: { type: 'plain_text', text: `You ${verb.toLowerCase()} what this message shows, as yourself.` },
      confirm: { type: 'plain_text', text: verb },
      deny: { type: 'plain_text', text: 'Cancel' },
      style,
    },
  });
  return {
    text: line(`${author} wants to change ${environment} of ${project}: #${id} ${title}`, 1_500),
    blocks: [
      section(header),
      ...changes.map((change) => section(changeText(change))),
      ...(more > 0 ? [section(`_… and ${more} more changes_`)] : []),
      {
        type: 'context',
        elements: [{ type: 'mrkdwn', text: `${line(stateText(description))}\n${noteText}`, verbatim: true }],
      },
      {
        type: 'actions',
        block_id: `review-${id}`,
        elements: [
          ...(isInReview
            ? [
                // What is in conflict has no effect that could be approved.
                ...(description.basis === null || !isComplete
                  ? []
                  : [button('approve', 'Approve', { style: 'primary', ...confirm('Approve', 'primary') })]),
                button('reject', 'Reject', { style: 'danger', ...confirm('Reject', 'danger') }),
                button('comment', 'Comment'),
              ]
            : []),
          button('open', isInReview && !isComplete ? 'Review it in Bunting' : 'Open', { url: address }),
        ],
      },
    ],
  };
}

/** The form for a comment. */
export function commentView({ request, responseUrl }: Pick<Interaction, 'request' | 'responseUrl'>, max: number) {
  return {
    type: 'modal',
    callback_id: commentForm,
    private_metadata: JSON.stringify({ request, responseUrl }),
    title: { type: 'plain_text', text: `Comment on #${request.id}`.slice(0, 24) },
    submit: { type: 'plain_text', text: 'Comment' },
    close: { type: 'plain_text', text: 'Cancel' },
    blocks: [
      {
        type: 'input',
        block_id: commentField,
        label: { type: 'plain_text', text: 'Comment' },
        element: { type: 'plain_text_input', action_id: commentField, multiline: true, max_length: max },
      },
    ],
  };
}
