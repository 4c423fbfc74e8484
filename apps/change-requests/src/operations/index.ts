import { type Endpoint } from '@bunting/bus';
import { addChangesEndpoint } from './change-requests/add-changes.ts';
import { addCommentEndpoint } from './change-requests/add-comment.ts';
import {
  getApproversEndpoint,
  listAvailableReviewersEndpoint,
  setApproversEndpoint,
} from './change-requests/approvers.ts';
import { changeStateEndpoint } from './change-requests/change-state.ts';
import { countActionableEndpoint, countChangeRequestsEndpoint } from './change-requests/count-change-requests.ts';
import { discardChangeEndpoint } from './change-requests/discard-change.ts';
import { discardDraftEndpoint } from './change-requests/discard-draft.ts';
import { editChangeEndpoint } from './change-requests/edit-change.ts';
import { getChangeRequestEndpoint } from './change-requests/get-change-request.ts';
import { listChangeRequestsEndpoint, listPendingOfFeatureEndpoint } from './change-requests/list-change-requests.ts';
import {
  listOpenChangeRequestsEndpoint,
  listPendingChangeRequestsEndpoint,
} from './change-requests/list-pending-change-requests.ts';
import { listScheduledEndpoint } from './change-requests/list-scheduled.ts';
import { previewChangeRequestEndpoint, previewProposalEndpoint } from './change-requests/preview-change-request.ts';
import { listSegmentUsesEndpoint } from './change-requests/list-segment-uses.ts';
import { proposeImportEndpoint } from './change-requests/propose-import.ts';
import { revertChangeRequestEndpoint } from './change-requests/revert-change-request.ts';
import { searchChangeRequestsEndpoint } from './change-requests/search-change-requests.ts';
import { setTitleEndpoint } from './change-requests/set-title.ts';
import {
  getChangeRequestConfigEndpoint,
  setChangeRequestConfigEndpoint,
} from './configuration/change-request-config.ts';
import type { Surroundings } from './surroundings.ts';

/** Everything that the service answers. */
export const changeRequestsEndpoints = (surroundings: Surroundings): readonly Endpoint[] => {
  const { bus, reader } = surroundings;
  return [
    addChangesEndpoint(surroundings),
    listPendingChangeRequestsEndpoint(bus, reader),
    listOpenChangeRequestsEndpoint(bus, reader),
    listChangeRequestsEndpoint(surroundings),
    listPendingOfFeatureEndpoint(surroundings),
    getChangeRequestEndpoint(surroundings),
    discardDraftEndpoint(surroundings),
    changeStateEndpoint(surroundings),
    setTitleEndpoint(surroundings),
    addCommentEndpoint(surroundings),
    editChangeEndpoint(surroundings),
    discardChangeEndpoint(surroundings),
    getChangeRequestConfigEndpoint(surroundings),
    setChangeRequestConfigEndpoint(surroundings),
    countChangeRequestsEndpoint(surroundings),
    countActionableEndpoint(surroundings),
    previewChangeRequestEndpoint(surroundings),
    previewProposalEndpoint(surroundings),
    revertChangeRequestEndpoint(surroundings),
    listScheduledEndpoint(surroundings),
    listAvailableReviewersEndpoint(surroundings),
    getApproversEndpoint(surroundings),
    setApproversEndpoint(surroundings),
    searchChangeRequestsEndpoint(surroundings),
    proposeImportEndpoint(surroundings),
    listSegmentUsesEndpoint(surroundings),
  ];
};
