import type { Collection } from 'mongodb';
import type { AccountsDeps } from '../accounts/deps.ts';
import type { TtlCache } from '../platform/batching/ttl-cache.ts';
import type { SettingsDeps } from '../settings/deps.ts';
import type { ApiToken, AuthenticatedToken } from './api-token.ts';
import type { DrawnPicture } from './drawn-picture.ts';
import type { Picture, PictureUpload } from './picture.ts';
import type { Server } from './server.ts';
import type { ServerDraft } from './server-draft.ts';
import type { TagList } from './tag-list.ts';

export type ServersDeps = AccountsDeps &
  SettingsDeps & {
    apiTokens: Collection<ApiToken>;
    authentications: TtlCache<AuthenticatedToken>;
    bannerPictures: Collection<DrawnPicture>;
    pictures: Collection<Picture>;
    pictureUploads: Collection<PictureUpload>;
    previewCards: Collection<DrawnPicture>;
    serverDrafts: Collection<ServerDraft>;
    servers: Collection<Server>;
    tagLists: Collection<TagList>;
  };
