import type { AnyOperation } from '@bunting/contracts';
import { Suspense, useState } from 'react';
import type { CallRequest } from '../../api/call.ts';
import type { PermissionScope } from '../../api/grants.ts';
import { useMayCall } from '../../api/permissions.ts';
import { usePageActions } from '../../shell/page-actions.ts';
import { Button, PlaceOfButton } from '../buttons/button.tsx';
import { isDenied } from '../content/query-result.tsx';
import type { MenuEntry } from '../buttons/menu.tsx';
import { ConfirmOperationDialog } from '../dialogs/confirm-operation-dialog.tsx';
import { type RequestBodyDialogProps, RequestBodyDialog } from '../forms/request-body-form.tsx';
import type { FormValues } from '../forms/request-body-schema.ts';
import { MissingPermissionNotice } from './missing-permission-notice.tsx';
import { usePreload } from './use-preload.ts';
import { ResourceList, type ResourceListProps } from './resource-list.tsx';
import { isolated } from '../../text/isolated.ts';

type FormOptions<O extends AnyOperation> = Pick<
  RequestBodyDialogProps<O>,
  'operation' | 'fields' | 'prepare' | 'isWide'
>;

/** An entry of a row's menu, and the dialog that it opens. */
interface RowAction<T> {
  readonly id: string;
  readonly label: string | ((row: T) => string);
  readonly icon?: MenuEntry['icon'];
  /** who may not call it is not offered the action */
  readonly operation: AnyOperation;
  /** where the permission must hold, if that depends on the row */
  readonly scopeOf?: (row: T) => PermissionScope;
  readonly isOffered?: (row: T) => boolean;
  /** runs the action instead of a dialog */
  readonly run?: (row: T) => void;
  readonly dialog?: (row: T, close: () => void) => React.ReactNode;
}

export interface CatalogueProps<T, C extends AnyOperation, E extends AnyOperation, R extends AnyOperation> extends Omit<
  ResourceListProps<T>,
  'actions' | 'create' | 'empty'
> {
  /** a thing of the list, in texts: `tag type` */
  readonly noun: string;
  /** where the permissions must hold */
  readonly scope?: PermissionScope;
  /** the operation whose missing permission is told above the list; that which edits when left out */
  readonly readOnlyWithout?: AnyOperation;
  readonly create?: (
    | (FormOptions<C> & {
        readonly values?: FormValues;
        readonly request?: RequestBodyDialogProps<C>['request'];
        readonly notification?: (body: FormValues) => string;
      })
    | { readonly operation: C; readonly isDisabled?: boolean; readonly dialog: (close: () => void) => React.ReactNode }
  ) & { readonly label?: string; /** the page has a more important button */ readonly isSecondary?: boolean };
  readonly edit?: FormOptions<E> & {
    readonly label?: string;
    readonly isOffered?: (row: T) => boolean;
    readonly title?: (name: string) => string;
    readonly notification?: (name: string) => string;
    readonly request: (row: T) => RequestBodyDialogProps<E>['request'];
    /** the body as it is stored; without it, the row */
    readonly values?: (row: T) => FormValues;
    /** reads the body again before it is saved, so that no edit of another person is overwritten */
    readonly stored: (row: T) => Promise<FormValues>;
    readonly intro?: (row: T) => React.ReactNode;
  };
  /** entries of the menu between those that edit and remove */
  readonly actions?: readonly RowAction<T>[];
  readonly remove?: {
    readonly operation: R;
    readonly label?: string;
    readonly isOffered?: (row: T) => boolean;
    readonly title?: (name: string) => string;
    readonly notification?: (name: string) => string;
    readonly request: (row: T) => CallRequest<R>;
    /** whether the name is typed to confirm, because there is no way back and the effect is large */
    readonly asksForName?: boolean;
    readonly isImpossible?: (row: T) => boolean;
    /** what happens, and what uses the thing */
    readonly usage: (row: T) => React.ReactNode;
  };
  readonly empty: { readonly title: string; readonly help: string; readonly action?: React.ReactNode };
  /** loads what the dialogs need (`usePreload`) */
  readonly preload?: () => Promise<unknown>;
  /** puts the button that creates a thing, the notice and the list on the page; without it, they stand one under the other */
  readonly frame?: (createButton: React.ReactNode, content: React.ReactNode) => React.ReactNode;
}

function withArticle(noun: string): string {
  return `${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** A list of things of one kind with the dialogs that create, edit and remove them, each for who may do so. */
export function Catalogue<T, C extends AnyOperation, E extends AnyOperation, R extends AnyOperation>({
  noun,
  scope,
  readOnlyWithout,
  create,
  edit,
  actions = [],
  remove,
  empty,
  preload,
  frame,
  ...list
}: CatalogueProps<T, C, E, R>) {
  const mayCall = useMayCall();
  /** the open dialog: of an action on a row, or without a row the one that creates */
  const [opened, setOpened] = useState<{ readonly action: string; readonly row: T } | 'create'>();
  const close = (): void => setOpened(undefined);
  usePreload(preload);

  const createLabel = create?.label ?? `Create ${withArticle(noun)}`;
  const mayCreate = create !== undefined && mayCall(create.operation, scope);
  const isDisabled = create !== undefined && 'dialog' in create && create.isDisabled === true;
  const openCreate = (): void => (isDisabled ? undefined : setOpened('create'));
  usePageActions(
    mayCreate && create.isSecondary !== true
      ? [{ id: `${noun}.create`, title: createLabel, key: 'c', run: openCreate }]
      : [],
  );
  // An empty list has the button itself, below the words about what would be listed.
  const isEmpty = list.filter === undefined && list.query.data?.length === 0;
  const mayBeEmpty =
    isEmpty || (list.filter === undefined && list.query.data === undefined && list.query.error == null);
  const createButton = mayCreate && (
    <Button
      variant={create.isSecondary === true ? 'secondary' : 'primary'}
      icon="add"
      isDisabled={isDisabled}
      onPress={openCreate}
    >
      {createLabel}
    </Button>
  );

  const renderCreate = (): React.ReactNode => {
    if (create === undefined) return null;
    if ('dialog' in create) return create.dialog(close);
    const { operation, fields, prepare, isWide, request = {} as RequestBodyDialogProps<C>['request'] } = create;
    return (
      <RequestBodyDialog
        operation={operation}
        fields={fields}
        {...(prepare && { prepare })}
        {...(isWide === true && { isWide })}
        title={createLabel}
        submit="Create"
        request={request}
        values={create.values ?? {}}
        notification={create.notification ?? (({ name }) => `The ${noun} ${isolated(String(name))} is created.`)}
        onClose={close}
      />
    );
  };

  const rowActions: readonly RowAction<T>[] = [
    ...(edit === undefined
      ? []
      : [
          {
            id: 'edit',
            label: edit.label ?? 'Edit',
            icon: 'edit' as const,
            operation: edit.operation,
            ...(edit.isOffered && { isOffered: edit.isOffered }),
            dialog: (row: T, onClose: () => void) => {
              const { operation, fields, prepare, isWide, title, notification, request, values, stored, intro } = edit;
              const name = list.name(row);
              return (
                <RequestBodyDialog
                  operation={operation}
                  fields={fields}
                  {...(prepare && { prepare })}
                  {...(isWide === true && { isWide })}
                  title={title?.(name) ?? `Edit the ${noun} “${isolated(name)}”`}
                  submit="Save"
                  intro={intro?.(row)}
                  request={request(row)}
                  values={values?.(row) ?? (row as FormValues)}
                  readStored={async () => ({ value: await stored(row) })}
                  notification={() => notification?.(name) ?? `The ${noun} ${isolated(name)} is saved.`}
                  onClose={onClose}
                />
              );
            },
          },
        ]),
    ...actions,
    ...(remove === undefined
      ? []
      : [
          {
            id: 'delete',
            label: remove.label ?? 'Delete',
            icon: 'remove' as const,
            operation: remove.operation,
            ...(remove.isOffered && { isOffered: remove.isOffered }),
            dialog: (row: T, onClose: () => void) => {
              const name = list.name(row);
              return (
                <ConfirmOperationDialog
                  title={remove.title?.(name) ?? `Delete the ${noun} “${isolated(name)}”`}
                  confirm={remove.label ?? 'Delete'}
                  isDangerous
                  {...(remove.asksForName === true && { typedName: name })}
                  isImpossible={remove.isImpossible?.(row) === true}
                  operation={remove.operation}
                  request={remove.request(row)}
                  notification={remove.notification?.(name) ?? `The ${noun} ${isolated(name)} is deleted.`}
                  onClose={onClose}
                >
                  {remove.usage(row)}
                </ConfirmOperationDialog>
              );
            },
          },
        ]),
  ];
  const entriesOf = (row: T): MenuEntry[] =>
    rowActions
      .filter(
        ({ operation, scopeOf, isOffered }) =>
          mayCall(operation, scopeOf?.(row) ?? scope) && isOffered?.(row) !== false,
      )
      .map(({ id, label, icon, run, dialog: rendered }) => ({
        id,
        label: typeof label === 'string' ? label : label(row),
        ...(icon && { icon }),
        run: () => (rendered === undefined ? run?.(row) : setOpened({ action: id, row })),
      }));

  // Who may do anything here at all can do more than look.
  const mayAct =
    mayCreate || rowActions.some(({ operation, scopeOf }) => scopeOf === undefined && mayCall(operation, scope));
  const noticeOperation = mayAct ? undefined : (readOnlyWithout ?? edit?.operation ?? create?.operation);
  const content = (
    <>
      {noticeOperation && !isDenied(list.query.error) && (
        <MissingPermissionNotice operation={noticeOperation} {...(scope && { scope })} />
      )}
      <ResourceList
        {...list}
        {...(rowActions.length > 0 && { actions: entriesOf })}
        {...(frame === undefined && { create: createButton })}
        empty={{ ...(isEmpty && { action: createButton }), ...empty }}
      />
      <Suspense>
        {opened === 'create'
          ? renderCreate()
          : opened && rowActions.find(({ id }) => id === opened.action)?.dialog?.(opened.row, close)}
      </Suspense>
    </>
  );
  return frame?.(<PlaceOfButton isHidden={mayBeEmpty}>{createButton}</PlaceOfButton>, content) ?? content;
}
