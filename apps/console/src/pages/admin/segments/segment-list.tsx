import {
  Refusal,
  AddSegmentIds,
  type AnyOperation,
  RemoveSegmentIds,
  ReplaceSegmentList,
  type SegmentList,
  type SegmentListChange,
  type SegmentListContentType,
  segmentIdReader,
} from '@bunting/contracts';
import { useRef, useState } from 'react';
import { ApiError } from '../../../api/api-error.ts';
import { sendAfterSignIn, urlOf } from '../../../api/call.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { TextField } from '../../../components/forms/fields.tsx';
import layout from '../../../components/layout/layout.module.css';
import { notifyProposed, propose } from '../../../changes/propose.ts';
import { notify, notifyError } from '../../../shell/toasts.tsx';
import { inFieldWords } from '../../../text/field-words.ts';
import { formatCount, formatNumber } from '../../../text/format-number.ts';
import { downloadSegmentList } from './download-segment-list.ts';
import type { ProposalTarget } from './propose-segment.tsx';

/** The number of ids that server SDKs get unless an operator has set another one. */
const defaultMaxIdsToSdks = 10_000;
const shownIds = 5;

/** A file that the user has chosen, and what it holds. */
interface ReadFile {
  readonly file: File;
  readonly contentType: SegmentListContentType;
  readonly count: number;
  readonly duplicates: number;
  readonly first: readonly string[];
}

function contentTypeOf({ name }: File): SegmentListContentType {
  if (/\.csv$/i.test(name)) return 'text/csv';
  return /\.(ndjson|jsonl)$/i.test(name) ? 'application/x-ndjson' : 'text/plain';
}

/** @throws Refusal that names the first line with a fault */
async function readList(file: File, contextName: string): Promise<ReadFile> {
  const contentType = contentTypeOf(file);
  const reader = segmentIdReader(contentType, contextName);
  const ids = [...reader.read(await file.text()), ...reader.end()];
  return {
    file,
    contentType,
    count: ids.length,
    duplicates: ids.length - new Set(ids).size,
    first: ids.slice(0, shownIds),
  };
}

interface SegmentListProps {
  readonly id: number;
  readonly list: SegmentList | undefined;
  readonly mayEdit: boolean;
  /** where an edit needs a change request; undefined where it does not */
  readonly target?: ProposalTarget | undefined;
  readonly onChange: (list: SegmentList | undefined) => void;
}

/** Chooses a file, shows what it holds, and sends it. */
function SegmentListUpload({ id, list, target, onChange }: SegmentListProps) {
  const input = useRef<HTMLInputElement>(null);
  const [field, setField] = useState(list?.contextName ?? 'userId');
  const [read, setRead] = useState<ReadFile>();
  const [isSending, setSending] = useState(false);
  const choose = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      setRead(await readList(file, field));
    } catch (error) {
      setRead(undefined);
      notifyError(error instanceof Refusal ? new ApiError(error.kind, inFieldWords(error.message)) : error);
    }
  };
  const proposes = target !== undefined && !target.maySkip;
  const edit = async (
    operation: AnyOperation,
    uploaded: ReadFile | undefined,
    isProposed = proposes,
  ): Promise<void> => {
    setSending(true);
    try {
      const url = urlOf(operation, {
        params: { id },
        query: {
          ...(uploaded === undefined ? { all: 'true' } : { contextName: field }),
          ...(isProposed ? { staged: 'true' } : {}),
        },
      });
      const body = uploaded && new Blob([uploaded.file], { type: uploaded.contentType });
      const { body: reply } = await sendAfterSignIn(operation.http?.method ?? 'PUT', url, { body });
      const { list: after, added, removed, staged } = reply as SegmentListChange;
      if (isProposed && target !== undefined) {
        if (staged === undefined)
          return notify(
            uploaded === undefined ? 'There is no list any more.' : 'The list has exactly these ids already.',
          );
        const { project, environments } = target;
        const change = { action: 'updateSegmentList', payload: { id, ...staged } };
        notifyProposed(await propose({ project, environment: environments[0] ?? '' }, change));
        setRead(undefined);
        return;
      }
      onChange(after ?? undefined);
      setRead(undefined);
      notify(
        after === null
          ? 'The list is removed.'
          : `${formatNumber(added)} added, ${formatNumber(removed)} removed: the list has ${formatCount(after.size, 'id')}.`,
      );
    } catch (error) {
      notifyError(error);
    } finally {
      setSending(false);
    }
  };
  return (
    <>
      <TextField label="Context field of the ids" value={field} onChange={setField} />
      <div>
        <Button onPress={() => input.current?.click()}>Choose a file of ids</Button>
      </div>
      <input
        ref={input}
        type="file"
        accept=".txt,.csv,.ndjson,.jsonl,text/plain,text/csv"
        hidden
        aria-label="Choose a file of ids"
        onChange={({ target }) => {
          void choose(target.files?.[0]);
          target.value = '';
        }}
      />
      {read !== undefined && (
        <>
          <p>
            {`${read.file.name} has ${formatCount(read.count, 'id')}, ${formatNumber(read.duplicates)} of them twice. `}
            {read.count > 0 && `It begins with ${read.first.join(', ')}.`}
          </p>
          <p>
            <Button variant="primary" isDisabled={isSending} onPress={() => void edit(ReplaceSegmentList, read)}>
              {proposes ? 'Propose it as the list' : list === undefined ? 'Use it as the list' : 'Replace the list'}
            </Button>{' '}
            {list !== undefined && (
              <>
                <Button isDisabled={isSending} onPress={() => void edit(AddSegmentIds, read)}>
                  {proposes ? 'Propose to add these ids' : 'Add these ids'}
                </Button>{' '}
                <Button isDisabled={isSending} onPress={() => void edit(RemoveSegmentIds, read)}>
                  {proposes ? 'Propose to remove these ids' : 'Remove these ids'}
                </Button>{' '}
              </>
            )}
            {target?.maySkip === true && (
              <Button isDisabled={isSending} onPress={() => void edit(ReplaceSegmentList, read, true)}>
                Propose it as the list
              </Button>
            )}
          </p>
        </>
      )}
      {proposes && (
        <Notice>{`${target.environments.join(' and ')} ${target.environments.length === 1 ? 'is' : 'are'} protected in the project: what you upload becomes part of your change request.`}</Notice>
      )}
      {list !== undefined && (
        <p>
          <Button isDisabled={isSending} onPress={() => void edit(RemoveSegmentIds, undefined)}>
            {proposes ? 'Propose to match everybody again: remove the list' : 'Match everybody again: remove the list'}
          </Button>
        </p>
      )}
    </>
  );
}

/** The list of a segment: how large it is, who gets it, its download and its upload. */
export function SegmentListSection({ id, list, mayEdit, target, onChange }: SegmentListProps) {
  return (
    <section className={layout['stack']} aria-labelledby="list">
      <h2 id="list">List of ids</h2>
      {list === undefined ? (
        <p>It has no list of ids. With one, it matches only users on the list who satisfy its constraints.</p>
      ) : (
        <p>
          {`It matches only users whose ${list.contextName} is one of ${formatCount(list.size, 'id')} (version ${list.version}).`}
        </p>
      )}
      {list?.size === 0 && <Notice tone="warning">The list is empty, so the segment matches nobody.</Notice>}
      {list !== undefined && list.size > defaultMaxIdsToSdks && (
        <Notice tone="warning">
          {`Server SDKs get lists of up to ${formatNumber(defaultMaxIdsToSdks)} ids, unless an operator has set another limit. To them, a segment with a longer list matches nobody; browsers and OpenFeature clients get it exactly.`}
        </Notice>
      )}
      {list !== undefined && (
        <p>
          <Button onPress={() => void downloadSegmentList(id)}>Download the list</Button>
        </p>
      )}
      {mayEdit && <SegmentListUpload id={id} list={list} mayEdit target={target} onChange={onChange} />}
    </section>
  );
}
