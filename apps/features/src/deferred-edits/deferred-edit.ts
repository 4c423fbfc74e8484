import type { Caller, Tag } from '@bunting/contracts';

/** An edit of more features than one transaction may hold. Each batch of it is a transaction, with its events. */
export type DeferredEdit =
  /** the deletion of a tag, or of a type with all of its tags, which it ends with */
  | { readonly kind: 'delete-tag'; readonly type: Tag['type']; readonly value: Tag['value'] | null }
  /** the copy of settings for the clone of an environment */
  | {
      readonly kind: 'copy-settings';
      readonly from: string;
      readonly to: string;
      readonly projects: readonly string[];
    }
  /** the deletion of a project, which it ends with */
  | { readonly kind: 'delete-project'; readonly project: string };

/** What two edits of the same kind cannot both be about. */
export function subjectOf(edit: DeferredEdit): string {
  switch (edit.kind) {
    case 'delete-tag':
      return edit.value === null ? edit.type : `${edit.type} ${edit.value}`;
    case 'copy-settings':
      return edit.to;
    case 'delete-project':
      return edit.project;
  }
}

/** Who began an edit: events name this caller, whose rights were checked then. */
export type EditAuthor = Pick<Caller, 'id' | 'name' | 'displayName' | 'username'>;

/** An edit as it is stored. */
export interface BegunEdit {
  readonly id: number;
  readonly edit: DeferredEdit;
  readonly author: EditAuthor;
  /** ISO 8601; features that were created later are not concerned */
  readonly begunAt: string;
  /** features up to this name have been edited */
  readonly doneUpTo: string;
}
